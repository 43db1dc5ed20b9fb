package android.os;

/**
 * What the device is. Constants would become part of what is compiled with them, so these values are none to the compiler.
 */
public final class Build {
    public static final String DEVICE = String.valueOf("stub-device");
    public static final String MODEL = String.valueOf("stub 5");
    public static final String BRAND = String.valueOf("stub & Co");
    public static final String MANUFACTURER = String.valueOf("stub works");

    private Build() {
    }

    /** What system it has. */
    public static final class VERSION {
        public static final String RELEASE = String.valueOf("14 stub");
        public static final int SDK_INT = Integer.parseInt("34");
    }

    /** The numbers of systems. */
    public static final class VERSION_CODES {
        public static final int M = 23;
        public static final int N = 24;
    }
}
