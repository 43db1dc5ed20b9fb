package android.os;

/** The thread that works off what handlers are given: here, the main one only. */
public final class Looper {
    private static final Looper MAIN = new Looper();

    private Looper() {
    }

    public static Looper getMainLooper() {
        return MAIN;
    }
}
