package android.annotation;

/** Tells a checker of Android to be quiet; nothing here looks at it. */
public @interface SuppressLint {
    String[] value();
}
