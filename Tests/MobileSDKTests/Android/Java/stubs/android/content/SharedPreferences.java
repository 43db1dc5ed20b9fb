package android.content;

/** Values that an app keeps. */
public interface SharedPreferences {
    String getString(String key, String otherwise);

    boolean getBoolean(String key, boolean otherwise);

    Editor edit();

    /** Changes that are to be made together. */
    interface Editor {
        Editor putString(String key, String value);

        Editor putBoolean(String key, boolean value);

        boolean commit();
    }
}
