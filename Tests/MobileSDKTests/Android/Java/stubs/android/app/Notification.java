package android.app;

import android.content.Context;
import android.os.Bundle;

/** What the system shows. */
public class Notification {
    public static final int FLAG_AUTO_CANCEL = 0x10;

    public int flags;
    public PendingIntent contentIntent;
    public Bundle extras = new Bundle();
    /** The texts and the icon; only the stub shows them. */
    public String title;
    public String text;
    public int icon;

    /** Makes one. */
    public static class Builder {
        private final Notification made = new Notification();

        public Builder(Context context) {
        }

        public Builder setContentTitle(CharSequence title) {
            made.title = title.toString();
            return this;
        }

        public Builder setContentText(CharSequence text) {
            made.text = text.toString();
            return this;
        }

        public Builder setSmallIcon(int icon) {
            made.icon = icon;
            return this;
        }

        public Builder setContentIntent(PendingIntent intent) {
            made.contentIntent = intent;
            return this;
        }

        public Builder addExtras(Bundle extras) {
            made.extras.putAll(extras);
            return this;
        }

        public Notification build() {
            return made;
        }
    }
}
