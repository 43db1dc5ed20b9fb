package stub;

import android.content.SharedPreferences;
import java.util.HashMap;
import java.util.Map;

/** Preferences in memory. An edit is there as a whole or not at all. */
public final class Preferences implements SharedPreferences {
    private final Map<String, Object> values = new HashMap<>();

    @Override
    public synchronized String getString(String key, String otherwise) {
        return values.containsKey(key) ? (String) values.get(key) : otherwise;
    }

    @Override
    public synchronized boolean getBoolean(String key, boolean otherwise) {
        return values.containsKey(key) ? (Boolean) values.get(key) : otherwise;
    }

    @Override
    public Editor edit() {
        final Map<String, Object> changes = new HashMap<>();
        return new Editor() {
            @Override
            public Editor putString(String key, String value) {
                changes.put(key, value);
                return this;
            }

            @Override
            public Editor putBoolean(String key, boolean value) {
                changes.put(key, value);
                return this;
            }

            @Override
            public boolean commit() {
                synchronized (Preferences.this) {
                    values.putAll(changes);
                }
                return true;
            }
        };
    }
}
