import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Records a history of concurrent operations, as JSON Lines, for the command {@code histcheck -m CHECKER FILE}.
 *
 * <p>One file without dependencies: copy it into your tests. The order of the calls is the order of the history. Values are null,
 * booleans, the JDK's numbers, strings, arrays, {@code Iterable}s and {@code Map}s; anything else is written as its {@code toString}.
 * What has no text of its own throws, and so do NaN, other classes of numbers, halves of surrogate pairs, maps with two keys of one
 * text and lists that contain themselves. Values are written when they are passed: changing one later changes nothing.
 */
public final class Recorder {
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?(E[+-]?[0-9]+)?");

    /** Lists and maps within each other, at most: one that contains itself has no end. */
    private static final int DEPTH_MAX = 200;

    private final StringBuilder history = new StringBuilder();
    private final long startNs = System.nanoTime();
    private int processes = 0;

    /** A new client. It has one operation in flight at a time: use one for each thread. */
    public synchronized Client client() {
        return new Client(processes++);
    }

    /** The history so far. */
    public synchronized String history() {
        return history.toString();
    }

    /** Writes the history so far into a file. */
    public void save(Path path) throws IOException {
        Files.write(path, history().getBytes(StandardCharsets.UTF_8));
    }

    /** Invokes operations, one at a time. */
    public final class Client {
        private int process;
        private boolean inFlight = false;

        private Client(int process) {
            this.process = process;
        }

        /** Records that this client invokes {@code f} with a value. */
        public Operation invoke(String f, Object value) {
            String invoked = toJson(value);
            synchronized (Recorder.this) {
                if (inFlight) {
                    throw new IllegalStateException("this client has an operation in flight; complete it first");
                }
                add("invoke", process, f, invoked, null);
                inFlight = true;
                return new Operation(this, f, invoked);
            }
        }
    }

    /** An operation in flight. It completes once: by {@code ok}, {@code fail} or {@code info}. */
    public final class Operation {
        private final Client client;
        private final String f;
        private final String invoked;
        private boolean isComplete = false;

        private Operation(Client client, String f, String invoked) {
            this.client = client;
            this.f = f;
            this.invoked = invoked;
        }

        /** It took effect. The value is that of the invocation, or what it returned. */
        public void ok(Object result) {
            complete("ok", toJson(result), null);
        }

        /** It certainly did not take effect. */
        public void fail(Object error) {
            complete("fail", invoked, error);
        }

        /** It may or may not have taken effect, now or later: a time-out. The client goes on as another process. */
        public void info(Object error) {
            complete("info", invoked, error);
        }

        private void complete(String type, String result, Object error) {
            synchronized (Recorder.this) {
                if (isComplete) {
                    throw new IllegalStateException("an operation completes once");
                }
                add(type, client.process, f, result, error);
                isComplete = true;
                client.inFlight = false;
                if (type.equals("info")) {
                    client.process = processes++;
                }
            }
        }
    }

    /** Adds a line, with a value that is JSON. */
    private void add(String type, int process, String f, String value, Object error) {
        StringBuilder line = new StringBuilder();
        line.append("{\"type\":\"").append(type).append("\",\"process\":").append(process).append(",\"f\":");
        write(line, f, 0);
        line.append(",\"value\":").append(value);
        line.append(",\"time\":").append(System.nanoTime() - startNs);
        if (error != null) {
            line.append(",\"error\":");
            // Half of a surrogate pair becomes a question mark: an error is recorded in any case.
            writeText(line, new String(error.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
        }
        history.append(line).append("}\n");
    }

    private static String toJson(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value, 0);
        return out.toString();
    }

    /** Writes a value that is within so many lists and maps. */
    private static void write(StringBuilder out, Object value, int depth) {
        if (depth > DEPTH_MAX) {
            // Its text might not end.
            throw refused("a value", "at most " + DEPTH_MAX + " lists and maps within each other");
        }
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Number) {
            // A user's own may print as anything.
            String text = value.toString();
            if (!value.getClass().getName().startsWith("java.") || !NUMBER.matcher(text).matches()) {
                throw refused(text, "a number of the JDK that JSON can hold");
            }
            out.append(text);
        } else if (value instanceof Map) {
            String separator = "{";
            Set<String> keys = new HashSet<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                String key = textOf(entry.getKey());
                if (!keys.add(key)) {
                    throw refused("a map with two keys whose text is " + key, "keys with different texts");
                }
                out.append(separator);
                writeText(out, key);
                out.append(':');
                write(out, entry.getValue(), depth + 1);
                separator = ",";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String separator = "[";
            for (Object item : (Iterable<?>) value) {
                out.append(separator);
                write(out, item, depth + 1);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value.getClass().isArray()) {
            List<Object> items = new ArrayList<>();
            for (int at = 0; at < Array.getLength(value); at++) {
                items.add(Array.get(value, at));
            }
            write(out, items, depth);
        } else {
            writeText(out, textOf(value));
        }
    }

    /** The text of an object. That of Object.toString differs in each run, and a future that is not awaited begins with it. */
    private static String textOf(Object value) {
        String text = String.valueOf(value);
        if (value != null && text.startsWith(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()))) {
            throw refused(text, "an object whose toString is its value");
        }
        return text;
    }

    private static void writeText(StringBuilder out, String text) {
        out.append('"');
        for (int at = 0; at < text.length(); at++) {
            int c = text.codePointAt(at);
            if (c == '"' || c == '\\') {
                out.append('\\').append((char) c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", c));
            } else if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                throw refused(String.format("\\u%04x", c), "both halves of a surrogate pair");
            } else {
                out.appendCodePoint(c);
                at += Character.charCount(c) - 1;
            }
        }
        out.append('"');
    }

    private static IllegalArgumentException refused(String value, String expected) {
        return new IllegalArgumentException(value + " cannot be in a history; expected " + expected);
    }
}
