package android.content;

/** Hears broadcasts. */
public abstract class BroadcastReceiver {
    public abstract void onReceive(Context context, Intent intent);
}
