//! Small histories that together contain everything that a history can contain.

/// The name and the text of each.
pub(crate) const TEXTS: &[(&str, &str)] = &[
    (
        "bare.edn",
        r#"; a comment; with [brackets
{:index 0, :type :invoke, :process 0, :f :txn, :value [[:append 5 1] [:r 6 nil]], :time 10}
#jepsen.history.Op{:index 1 :type :ok :process 0 :f :txn :value [[:append 5 1] [:r 6 [1 2 3]]] :time 20}
#_{:index 2} {:index 3, :type :info, :process :nemesis, :f :start, :value {"n1" #{:a \newline \a}}, :time nil}
{:index 4, :type :info :value (1 -2.5e3 12N 1/3 4.0M ##Inf) :error "é\u00e9\"😀\ud83d\ude00" :x 0x1f} ; the end"#,
    ),
    (
        "vector.edn",
        "[{:type :invoke :process 1 :f :read}\r\n {:type :ok, :process 1, :f :read, :value [1,2 3]}\r\n\
         #_ #_ {:type :ok} 7 {:type :invoke, :process 1, :f #_:x :write, :value #inst \"2024\"}]\n",
    ),
    ("list.edn", "({:type :fail, :value {:a [nil true false], 1 sym}} , {:type :fail :value \"two\nlines\"})"),
    (
        "array.json",
        r#" [ {"index":0,"type":"invoke","process":0,"f":"cas","value":[1,2],"time":5} ,
{"index":1,"type":"ok","process":"0","f":"cas","value":{"a":[null,true,false],"b":-1.5e3},"time":7}
, {"index":9,"type":"info","process":"nemesis","value":"é\u00e9\"\ud83d\ude00\/","time":8,"x":NaN}]
"#,
    ),
    (
        "lines.jsonl",
        "{\"type\":\"ok\",\"value\":[[\"r\",3,[1,2,3]],[\"r\",4,null],[\"append\",5,-Infinity]]}\n\
         {\"type\":\"ok\",\"value\":12345678901234567890,\"y\":[ ],\"z\":{ }}{\"type\":\"ok\",\"value\":[1, 2 ,3,\"\"]}\n",
    ),
    (
        "history.txt",
        "0\t:invoke\t:read\tnil\nINFO  util - 1\t:invoke\t:cas\t[1 2]\n:nemesis\t:info\t:start\t{:a \"b\\tc\"}\n\
         1\t:info\t:cas\t[1 2]\tcrash: pipe\n  at more\n0\t:ok\t:read\t3\t:note\n",
    ),
    (
        "intervals",
        "{\"client\":1,\"call\":2,\"return\":9,\"input\":[\"read\"],\"output\":\"\\u00e9\"}\n\
         {\"client\":\"x\",\"call\":1,\"return\":3,\"input\":{\"f\":\"w\",\"key\":[1,2],\"value\":{\"a\":[4]}}}\n\
         {\"client\":1,\"call\":0,\"return\":null,\"input\":[\"cas\",1,2],\"host\":\"n1\"}",
    ),
    ("empty.edn", "[ ; none\n]"),
    ("growing.jsonl", GROWING),
];

/// Lists that are read repeatedly, each time with a few more elements.
const GROWING: &str = concat!(
    r#"{"type":"ok","value":["r",18,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]]}"#,
    "\n",
    r#"{"type":"ok","value":["r",18,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]]}"#,
    "\n",
    r#"{"type":"ok","value":["r",18,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20.5,21]]}"#,
    "\n",
);
