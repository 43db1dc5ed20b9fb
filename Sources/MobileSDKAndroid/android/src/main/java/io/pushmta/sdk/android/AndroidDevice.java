package io.pushmta.sdk.android;

import android.annotation.SuppressLint;
import android.content.Context;
import android.os.Build;
import android.provider.Settings;
import io.pushmta.sdk.DeviceInfo;
import java.util.Locale;

/** Describes the device that the app runs on. */
public final class AndroidDevice {
    private AndroidDevice() {
    }

    /**
     * Describes the device. Its id is {@code ANDROID_ID}, which differs for each app (signing key) and user of the
     * device. It needs no permission.
     */
    @SuppressLint("HardwareIds")
    public static DeviceInfo describe(Context context) {
        String id = Settings.Secure.getString(context.getContentResolver(), Settings.Secure.ANDROID_ID);
        return new DeviceInfo(id, Build.DEVICE, Build.MODEL, Build.BRAND, Build.MANUFACTURER,
                "Android " + Build.VERSION.RELEASE, Locale.getDefault().toString());
    }
}
