package io.pushmta.sdk;

import java.util.Objects;
import java.util.concurrent.Callable;

/** The assertions of the tests. */
final class Check {
    /** Far longer than any step takes: a missed deadline is a failure. */
    private static final long DEADLINE_NANOS = 60_000_000_000L;

    private Check() {
    }

    static void equal(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError("\n  is       " + actual + "\n  expected " + expected);
        }
    }

    static void isTrue(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Waits until a condition holds. */
    static void eventually(Callable<Boolean> condition, String what) throws Exception {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Not within the deadline: " + what);
            }
            Thread.sleep(2);
        }
    }

    /** Makes a call that must throw the SDK's exception. */
    interface Call {
        void run() throws Exception;
    }

    static PushException refused(Call call) throws Exception {
        try {
            call.run();
        } catch (PushException error) {
            return error;
        }
        throw new AssertionError("nothing was refused");
    }

    static java.io.IOException lost(Call call) throws Exception {
        try {
            call.run();
        } catch (java.io.IOException error) {
            return error;
        }
        throw new AssertionError("nothing was lost");
    }
}
