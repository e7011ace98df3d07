/* Checks histories of a register: one in memory, one in a file, and one while it is being written. Prints what it finds. */
#include <histcheck.h>
#include <stdio.h>
#include <string.h>

static const char *const STALE =
    "{\"process\": 0, \"type\": \"invoke\", \"f\": \"write\", \"value\": 1}\n"
    "{\"process\": 0, \"type\": \"ok\", \"f\": \"write\", \"value\": 1}\n"
    "{\"process\": 1, \"type\": \"invoke\", \"f\": \"read\", \"value\": null}\n"
    "{\"process\": 1, \"type\": \"ok\", \"f\": \"read\", \"value\": 2}\n";

static void print(const char *what, HistcheckResult *result) {
    const char *error = histcheck_result_error(result);
    /* Prints only the first line of an error; the next one is what was expected. */
    int length = error ? (int)strcspn(error, "\n") : 0;
    printf("%s: %d %.*s\n", what, histcheck_result_verdict(result), length, error ? error : "");
    if (result && !error && !strstr(histcheck_result_json(result), "\"valid\":")) {
        printf("no report: %s\n", histcheck_result_json(result));
    }
    histcheck_result_free(result);
}

static void stream(void) {
    HistcheckResult *error = NULL;
    HistcheckStream *watched = histcheck_stream_new("register", NULL, &error);
    if (!watched) {
        print("stream", error);
        return;
    }
    int violated = 0;
    /* Feeds a few bytes at a time, as they arrive from a pipe. */
    for (size_t at = 0; at < strlen(STALE) && !violated; at += 7) {
        size_t left = strlen(STALE) - at;
        violated = histcheck_stream_feed(watched, STALE + at, left < 7 ? left : 7, &error);
    }
    printf("violated: %d\n", violated);
    print("violation", histcheck_stream_violation(watched));
    print("finish", histcheck_stream_finish(watched));
    print("finish again", histcheck_stream_finish(watched));
    printf("feed after that: %d\n", histcheck_stream_feed(watched, STALE, strlen(STALE), &error));
    print("its error", error);
    histcheck_stream_free(watched);
}

int main(int count, char **arguments) {
    printf("version %s\n", histcheck_version());
    print("bytes", histcheck_check_bytes(STALE, strlen(STALE), "register", NULL));
    print("initial 2", histcheck_check_bytes(STALE, strlen(STALE), "register", "{\"options\": {\"initial\": 2}}"));
    for (int at = 1; at < count; at++) {
        print("file", histcheck_check_file(arguments[at], "register", "{\"timeout_seconds\": 60}"));
    }
    stream();
    /* Invalid arguments give an error, and have no other effect. */
    print("no checker", histcheck_check_bytes(STALE, strlen(STALE), NULL, NULL));
    print("no history", histcheck_check_bytes("{", 1, "register", NULL));
    print("nothing", histcheck_check_bytes(NULL, 0, "register", NULL));
    print("no such setting", histcheck_check_bytes(STALE, strlen(STALE), "register", "{\"colour\": 1}"));
    print("NULL", NULL);
    histcheck_stream_free(NULL);
    return 0;
}
