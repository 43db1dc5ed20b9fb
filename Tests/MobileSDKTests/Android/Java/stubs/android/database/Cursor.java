package android.database;

/** Rows of a provider. */
public interface Cursor {
}
