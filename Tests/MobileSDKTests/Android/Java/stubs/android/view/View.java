package android.view;

import android.content.Context;

/** Something on a screen. */
public class View {
    public View(Context context) {
    }

    /** Hears clicks. */
    public interface OnClickListener {
        void onClick(View view);
    }
}
