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
 * <p>This file has no dependencies: copy it into your tests. The order of the calls is the order of the history. Values are null,
 * booleans, the JDK's numbers, strings, arrays, {@code Iterable}s and {@code Map}s; of any other object, the recorder writes the text
 * of {@code toString}. The recorder throws an exception for an object without its own {@code toString}, NaN, other classes of numbers,
 * halves of surrogate pairs, maps with two keys of the same text, and lists that contain themselves. Values are written when they are
 * passed: later changes have no effect.
 */
public final class Recorder {
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?(E[+-]?[0-9]+)?");

    /** The maximum depth of nested lists and maps: a list that contains itself has no end. */
    private static final int DEPTH_MAX = 200;

    private final StringBuilder history = new StringBuilder();
    private final long startNs = System.nanoTime();
    private int processes = 0;

    /** Returns a new client. It has at most one operation in flight: use one client for each thread. */
    public synchronized Client client() {
        return new Client(processes++);
    }

    /** Returns the history so far. */
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

        /** Records that the operation took effect. The value is that of the invocation, or the returned one. */
        public void ok(Object result) {
            complete("ok", toJson(result), null);
        }

        /** Records that the operation certainly did not take effect. */
        public void fail(Object error) {
            complete("fail", invoked, error);
        }

        /**
         * Records that the outcome is unknown, as after a time-out: the operation may take effect at any time, or never. The client
         * continues as another process.
         */
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
            // Half of a surrogate pair becomes a question mark, so that every error can be recorded.
            writeText(line, new String(error.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
        }
        history.append(line).append("}\n");
    }

    private static String toJson(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value, 0);
        return out.toString();
    }

    /** Writes a value at this depth of nested lists and maps. */
    private static void write(StringBuilder out, Object value, int depth) {
        if (depth > DEPTH_MAX) {
            // The value might contain itself.
            throw refused("a value", "at most " + DEPTH_MAX + " lists and maps within each other");
        }
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Number) {
            // The text of a user's own class may have any form.
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

    /** Returns the text of an object. Refuses the text of Object.toString, which differs in each run, such as that of a future. */
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
