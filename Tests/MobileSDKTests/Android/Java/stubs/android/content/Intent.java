package android.content;

import android.os.Bundle;

/** What an app asks the system to start, with its values. */
public class Intent {
    public static final int FLAG_ACTIVITY_NEW_TASK = 0x10000000;

    private final Bundle extras = new Bundle();
    private String action;
    private int flags;

    public Intent() {
    }

    public Intent(Context context, Class<?> target) {
    }

    public Intent setAction(String newAction) {
        action = newAction;
        return this;
    }

    public String getAction() {
        return action;
    }

    public Intent addFlags(int more) {
        flags |= more;
        return this;
    }

    public int getFlags() {
        return flags;
    }

    public Intent putExtra(String name, String value) {
        extras.putString(name, value);
        return this;
    }

    public Intent putExtras(Bundle more) {
        extras.putAll(more);
        return this;
    }

    public String getStringExtra(String name) {
        return extras.getString(name);
    }

    public void removeExtra(String name) {
        extras.remove(name);
    }

    /** A copy, or null where there is none. */
    public Bundle getExtras() {
        Bundle copy = new Bundle();
        copy.putAll(extras);
        return copy.isEmpty() ? null : copy;
    }
}
