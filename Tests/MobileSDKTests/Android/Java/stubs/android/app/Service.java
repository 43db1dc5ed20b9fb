package android.app;

import android.content.ContextWrapper;

/** Works without a screen. */
public abstract class Service extends ContextWrapper {
}
