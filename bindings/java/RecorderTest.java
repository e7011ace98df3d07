import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;

/** Tests of the recorder: compile this file and Recorder.java, and run it. It exits with 1 at the first failure. */
public final class RecorderTest {
    /** A number of a class that is not the JDK's. */
    private static final class Half extends Number {
        public int intValue() {
            return 0;
        }

        public long longValue() {
            return 0;
        }

        public float floatValue() {
            return 0.5f;
        }

        public double doubleValue() {
            return 0.5;
        }

        @Override
        public String toString() {
            return "1/2";
        }
    }

    public static void main(String[] arguments) {
        refusesWhatCannotBeWritten();
        writesValues();
        keepsTheInvocation();
        System.out.println("3 passed");
    }

    private static void refusesWhatCannotBeWritten() {
        DoubleAdder notANumber = new DoubleAdder();
        notANumber.add(Double.NaN);
        Map<Object, Object> twice = new HashMap<>();
        twice.put(1, "a");
        twice.put("1", "b");
        List<Object> endless = new ArrayList<>();
        endless.add(endless);
        Object[] itself = new Object[1];
        itself[0] = itself;
        Object[] refused = {
            Double.NaN, Float.POSITIVE_INFINITY, new Half(), notANumber, new Object(), new CompletableFuture<Integer>(), "\ud800",
            "\udc00\ud800", '\ud800', new double[] {1, Double.NaN}, new float[] {Float.NaN}, Arrays.asList(1, new Half()),
            Collections.singletonMap("\ud800", 1), Collections.singletonMap(new byte[] {1}, 1), new Object[] {new Object()},
            twice, Collections.singletonList(twice), endless, Collections.singletonMap("a", endless), itself
        };
        Recorder recorder = new Recorder();
        Recorder.Client client = recorder.client();
        for (Object value : refused) {
            refuses(() -> client.invoke("write", value), value);
        }
        refuses(() -> client.invoke("\ud800", 1), "the name of an operation");
        check("", recorder.history());
        Recorder.Operation read = client.invoke("read", null);
        refuses(() -> read.ok(new Half()), "a result");
        read.info("\ud800");
        client.invoke("read", null).ok(1);
        check("invoke 0 null, info 0 null error \"?\", invoke 1 null, ok 1 1", ops(recorder));
    }

    private static void writesValues() {
        Object[][] written = {
            {null, "null"}, {true, "true"}, {(byte) -1, "-1"}, {1L << 62, "4611686018427387904"}, {-0.5, "-0.5"}, {1e300, "1.0E300"},
            {new BigInteger("123456789012345678901"), "123456789012345678901"}, {new BigDecimal("1E+3"), "1E+3"},
            {new AtomicLong(7), "7"}, {new byte[] {1, -1}, "[1,-1]"}, {new short[] {2}, "[2]"}, {new int[] {}, "[]"},
            {new long[] {3, 4}, "[3,4]"}, {new float[] {0.5f}, "[0.5]"}, {new double[] {1}, "[1.0]"},
            {new boolean[] {true, false}, "[true,false]"}, {new char[] {'a', '"'}, "[\"a\",\"\\\"\"]"},
            {new Object[] {1, new byte[] {2}}, "[1,[2]]"}, {Collections.singletonMap("a", Arrays.asList(1, null)), "{\"a\":[1,null]}"},
            {"\ud83d\ude00\n\\", "\"\ud83d\ude00\\u000a\\\\\""}, {TimeUnit.DAYS, "\"DAYS\""}
        };
        for (Object[] row : written) {
            Recorder recorder = new Recorder();
            recorder.client().invoke("write", row[0]);
            check("invoke 0 " + row[1], ops(recorder));
        }
    }

    private static void keepsTheInvocation() {
        Recorder recorder = new Recorder();
        Recorder.Client client = recorder.client();
        List<Integer> value = new ArrayList<>(Collections.singletonList(1));
        Recorder.Operation first = client.invoke("write", value);
        value.add(2);
        first.info(null);
        Recorder.Operation second = client.invoke("write", value);
        value.add(3);
        second.fail(null);
        check("invoke 0 [1], info 0 [1], invoke 1 [1,2], fail 1 [1,2]", ops(recorder));
    }

    private static void refuses(Runnable does, Object what) {
        try {
            does.run();
        } catch (IllegalArgumentException refused) {
            check("true", String.valueOf(refused.getMessage().contains("cannot be in a history")));
            return;
        }
        throw new AssertionError("not refused: " + what);
    }

    /** Returns the ops of a history, each as "TYPE PROCESS VALUE", with its error if it has one. */
    private static String ops(Recorder recorder) {
        String line = "\\{\"type\":\"(\\w+)\",\"process\":(\\d+),\"f\":\"\\w+\",\"value\":(.*),\"time\":\\d+(?:(,\"error\":)(.*))?\\}";
        List<String> ops = new ArrayList<>();
        for (String op : recorder.history().trim().split("\n")) {
            ops.add(op.replaceAll(line, "$1 $2 $3$4$5").replace(",\"error\":", " error "));
        }
        return String.join(", ", ops);
    }

    private static void check(String expected, String found) {
        if (!found.equals(expected)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
