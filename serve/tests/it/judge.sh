#!/bin/sh
# Replaces `histcheck report` in tests: the name of the checker determines what it does.
while [ $# -gt 1 ]; do
    case "$1" in
        --directory) folder=$2; shift ;;
        --model=*) checker=${1#--model=} ;;
        --keyed) keyed=true ;;
    esac
    shift
done
case "$checker" in
    finds)
        echo '<meta name="histcheck-verdict" content="false"><p>found' > "$folder/report.html"
        echo '{"schema":1,"file":"h","checker":"finds","valid":false,"anomaly_types":["G0"],"not":["read-committed"],"keyed":'${keyed:-false}'}'
        exit 1 ;;
    refuses)
        echo '{"schema":1,"file":"h","error":{"message":"no <b>map</b>","line":3,"column":4,"expected":"a map"}}'
        exit 255 ;;
    fails) echo "error: <b>no such level</b>" >&2; exit 254 ;;
    sleeps) sleep 1000 & wait ;;
esac
