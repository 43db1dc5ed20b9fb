package android.content;

/** Names the apps that settings are read for. */
public abstract class ContentResolver {
}
