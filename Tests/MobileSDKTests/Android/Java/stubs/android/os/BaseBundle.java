package android.os;

import java.util.HashMap;
import java.util.Map;

/** Values by their names. */
public class BaseBundle {
    final Map<String, Object> values = new HashMap<>();

    public boolean isEmpty() {
        return values.isEmpty();
    }

    public boolean containsKey(String key) {
        return values.containsKey(key);
    }

    public Object get(String key) {
        return values.get(key);
    }

    /** Null for what is no text, as on a device. */
    public String getString(String key) {
        Object value = values.get(key);
        return value instanceof String ? (String) value : null;
    }

    public void putString(String key, String value) {
        values.put(key, value);
    }

    public void remove(String key) {
        values.remove(key);
    }
}
