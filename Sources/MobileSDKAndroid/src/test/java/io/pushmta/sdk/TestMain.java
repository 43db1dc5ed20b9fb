package io.pushmta.sdk;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Runs the tests without a library: every method of the classes below whose name begins with {@code test}. */
public final class TestMain {
    private static final Class<?>[] SUITES = {
        WireTests.class, ParametersTests.class, TrackingPathTests.class, StateTests.class, RegistrationTests.class,
        TrackingTests.class, AsyncRunnerTests.class,
    };

    private TestMain() {
    }

    public static void main(String[] arguments) throws Exception {
        run(SUITES);
    }

    /** Runs suites and exits: with 0 if at least one test ran and none failed. */
    static void run(Class<?>... suites) throws Exception {
        int passed = 0;
        int failed = 0;
        for (Class<?> suite : suites) {
            for (Method method : suite.getDeclaredMethods()) {
                if (!method.getName().startsWith("test") || Modifier.isStatic(method.getModifiers())) {
                    continue;
                }
                String name = suite.getSimpleName() + "." + method.getName();
                try {
                    method.setAccessible(true);
                    method.invoke(suite.getDeclaredConstructor().newInstance());
                    passed++;
                    System.out.println("ok " + name);
                } catch (InvocationTargetException error) {
                    failed++;
                    System.out.println("failed " + name);
                    error.getCause().printStackTrace(System.out);
                }
            }
        }
        System.out.println("passed " + passed + ", failed " + failed);
        // The threads of clients are daemons; threads that a test left running must not keep the process alive.
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }
}
