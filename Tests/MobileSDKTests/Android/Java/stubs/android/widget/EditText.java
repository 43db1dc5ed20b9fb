package android.widget;

import android.content.Context;
import android.text.Editable;
import android.view.View;

/** A field for a text. */
public class EditText extends View {
    private String text = "";

    public EditText(Context context) {
        super(context);
    }

    public void setText(CharSequence newText) {
        text = newText.toString();
    }

    public Editable getText() {
        return new Typed(text);
    }

    private static final class Typed implements Editable {
        private final String text;

        Typed(String text) {
            this.text = text;
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
