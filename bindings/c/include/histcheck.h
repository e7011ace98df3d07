/* libhistcheck: checking histories of concurrent operations, from C.
 *
 * Texts are UTF-8 and end with a zero. No function throws, unwinds or exits; an error is a result with the verdict -1. Every
 * function may be called in any thread. A result never changes, so threads may share it; calls with one stream wait for each
 * other. Nothing may be used by one thread while another frees it.
 *
 * A checker is what `histcheck -m` takes: "list-append", or several with commas between.
 *
 * Settings are a JSON object, or NULL for none:
 *   "options"          object: the options of the checker, {"consistency-models": ["serializable"]}; `histcheck models` lists them;
 *                     "initial" is a value of the history: the string "1" is not the integer 1
 *   "keyed"            true, false or "auto": check each key separately
 *   "format"           text: the format of the history; found by its content if absent. "edn" or "json" for a stream
 *   "time_unit"        "s", "ms", "us" or "ns"
 *   "timeout_seconds"  number: the verdict is unknown after that
 */

#ifndef HISTCHECK_H
#define HISTCHECK_H

#include <stddef.h>

// The history or the settings are wrong.
#define HISTCHECK_ERROR -1

// The report proves a violation.
#define HISTCHECK_INVALID 0

// The history is valid.
#define HISTCHECK_VALID 1

// The verdict could not be determined, or nothing was checked.
#define HISTCHECK_UNKNOWN 2

// The result of a check: a verdict with its report, or an error. It never changes, so threads may share it.
typedef struct HistcheckResult HistcheckResult;

// A history that is checked while it is being written. Threads may share it: calls wait for each other.
typedef struct HistcheckStream HistcheckStream;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this library, "0.1.0". It is not to be freed.
const char *histcheck_version(void);

// Checks the history in size bytes of text, in any format. The result is never NULL, and is to be freed.
HistcheckResult *histcheck_check_bytes(const void *data, size_t size, const char *checker, const char *settings_json);

// Checks a file, or the history in a directory of Jepsen. The result is never NULL, and is to be freed.
HistcheckResult *histcheck_check_file(const char *path, const char *checker, const char *settings_json);

// The verdict; `HISTCHECK_ERROR` for NULL.
int histcheck_result_verdict(const HistcheckResult *result);

// The report as `histcheck --output json` writes it, or an object with "error". It lives as long as the
// result. "" for NULL.
const char *histcheck_result_json(const HistcheckResult *result);

// The error message if the verdict is `HISTCHECK_ERROR`; otherwise NULL. It may have several lines, and lives as
// long as the result.
const char *histcheck_result_error(const HistcheckResult *result);

// Frees a result. Does nothing for NULL.
void histcheck_result_free(HistcheckResult *result);

// Starts the check of a history that is still being written. On failure it returns NULL and sets `*error`, unless
// error is NULL, to a result that is to be freed.
HistcheckStream *histcheck_stream_new(const char *checker, const char *settings_json, HistcheckResult **error);

// Adds text: lines of JSON or EDN, one op each. The text may end within a line. Returns 1 if the ops so far prove a
// violation, 0 if they do not, and -1 on failure; `*error` is then set as by `histcheck_stream_new`. For checkers
// that decide only at the end it returns 0.
int histcheck_stream_feed(const HistcheckStream *stream, const void *data, size_t size, HistcheckResult **error);

// The report on the violation, which is to be freed; NULL if there is none so far.
HistcheckResult *histcheck_stream_violation(const HistcheckStream *stream);

// The report on all text that was fed: never NULL, and to be freed. After an error of `histcheck_stream_feed`, the
// violation that was proved before it, or else the error. The stream accepts no more text, and is still to be freed.
HistcheckResult *histcheck_stream_finish(const HistcheckStream *stream);

// Frees a stream. Does nothing for NULL.
void histcheck_stream_free(HistcheckStream *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HISTCHECK_H */
