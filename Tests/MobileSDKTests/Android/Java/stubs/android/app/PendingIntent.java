package android.app;

import android.content.Context;
import android.content.Intent;

/** An intent for later. */
public final class PendingIntent {
    public static final int FLAG_UPDATE_CURRENT = 0x08000000;

    /** What a click starts; only the stub shows it. */
    public final Intent intent;

    private PendingIntent(Intent intent) {
        this.intent = intent;
    }

    public static PendingIntent getActivity(Context context, int code, Intent intent, int flags) {
        return new PendingIntent(intent);
    }
}
