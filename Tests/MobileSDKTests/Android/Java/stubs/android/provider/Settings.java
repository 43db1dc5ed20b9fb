package android.provider;

import android.content.ContentResolver;
import stub.Device;

/** Settings of the device. */
public final class Settings {
    private Settings() {
    }

    /** Those that apps only read. */
    public static final class Secure {
        public static final String ANDROID_ID = "android_id";

        private Secure() {
        }

        public static String getString(ContentResolver resolver, String name) {
            return name.equals(ANDROID_ID) ? Device.androidId : null;
        }
    }
}
