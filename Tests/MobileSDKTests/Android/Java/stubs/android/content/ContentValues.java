package android.content;

/** A row for a provider. */
public final class ContentValues {
}
