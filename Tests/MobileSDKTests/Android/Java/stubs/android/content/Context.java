package android.content;

/** What an app reaches the system through. */
public abstract class Context {
    public static final int MODE_PRIVATE = 0;
    public static final String CONNECTIVITY_SERVICE = "connectivity";
    public static final String NOTIFICATION_SERVICE = "notification";

    public abstract Context getApplicationContext();

    public abstract ContentResolver getContentResolver();

    public abstract SharedPreferences getSharedPreferences(String name, int mode);

    public abstract Object getSystemService(String name);

    public abstract void sendBroadcast(Intent intent);

    /** A text of the app's resources: here, its number. */
    public final String getString(int resource) {
        return "text " + resource;
    }
}
