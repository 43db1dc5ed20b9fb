package android.os;

/** What intents and messages carry. */
public final class Bundle extends BaseBundle {
    public void putAll(Bundle other) {
        values.putAll(other.values);
    }
}
