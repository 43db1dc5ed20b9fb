package android.net;

/** An address. */
public abstract class Uri {
}
