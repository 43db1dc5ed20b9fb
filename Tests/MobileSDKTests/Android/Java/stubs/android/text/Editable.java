package android.text;

/** A text that a person may change. */
public interface Editable extends CharSequence {
}
