import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Records a history of concurrent operations, as JSON Lines, for the command {@code histcheck -m CHECKER FILE}.
 *
 * <p>One file without dependencies: copy it into your tests. The order of the calls is the order of the history. Values are null,
 * booleans, numbers, strings, arrays of objects or of int or long, {@code Iterable}s and {@code Map}s; anything else is written as its {@code toString}.
 * They are written when they are passed: changing one later changes nothing.
 */
public final class Recorder {
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
            synchronized (Recorder.this) {
                if (inFlight) {
                    throw new IllegalStateException("this client has an operation in flight; complete it first");
                }
                add("invoke", process, f, value, null);
                inFlight = true;
                return new Operation(this, f, value);
            }
        }
    }

    /** An operation in flight. It completes once: by {@code ok}, {@code fail} or {@code info}. */
    public final class Operation {
        private final Client client;
        private final String f;
        private final Object value;
        private boolean isComplete = false;

        private Operation(Client client, String f, Object value) {
            this.client = client;
            this.f = f;
            this.value = value;
        }

        /** It took effect. The value is that of the invocation, or what it returned. */
        public void ok(Object result) {
            complete("ok", result, null);
        }

        /** It certainly did not take effect. */
        public void fail(Object error) {
            complete("fail", value, error);
        }

        /** It may or may not have taken effect, now or later: a time-out. The client goes on as another process. */
        public void info(Object error) {
            complete("info", value, error);
        }

        private void complete(String type, Object result, Object error) {
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

    /** Adds a line, or nothing if the value cannot be written. */
    private void add(String type, int process, String f, Object value, Object error) {
        StringBuilder line = new StringBuilder();
        line.append("{\"type\":\"").append(type).append("\",\"process\":").append(process).append(",\"f\":");
        write(line, f);
        line.append(",\"value\":");
        write(line, value);
        line.append(",\"time\":").append(System.nanoTime() - startNs);
        if (error != null) {
            line.append(",\"error\":");
            write(line, error.toString());
        }
        history.append(line).append("}\n");
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            if (Double.isNaN(number) || Double.isInfinite(number)) {
                throw new IllegalArgumentException("JSON has no " + value);
            }
            out.append(value);
        } else if (value == null || value instanceof Boolean || value instanceof Number) {
            out.append(value);
        } else if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                write(out, String.valueOf(entry.getKey()));
                out.append(':');
                write(out, entry.getValue());
                separator = ",";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String separator = "[";
            for (Object item : (Iterable<?>) value) {
                out.append(separator);
                write(out, item);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value instanceof Object[]) {
            write(out, java.util.Arrays.asList((Object[]) value));
        } else if (value instanceof int[]) {
            write(out, java.util.Arrays.stream((int[]) value).boxed().collect(java.util.stream.Collectors.toList()));
        } else if (value instanceof long[]) {
            write(out, java.util.Arrays.stream((long[]) value).boxed().collect(java.util.stream.Collectors.toList()));
        } else {
            writeText(out, value.toString());
        }
    }

    private static void writeText(StringBuilder out, String text) {
        out.append('"');
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
