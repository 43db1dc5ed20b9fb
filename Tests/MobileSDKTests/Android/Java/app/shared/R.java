package com.android.YourApplication;

/** The numbers of the app's resources. */
final class R {
    private R() {
    }

    static final class drawable {
        static final int notif_neotrip = 1;
    }

    static final class layout {
        static final int notification_viewer = 2;
    }

    static final class id {
        static final int editText1 = 3;
    }

    static final class string {
        static final int open_track_sdk_error = 4;
        static final int open_track_io_error = 5;
        static final int open_track_ok = 6;
        static final int rec_track_sdk_error = 7;
        static final int rec_track_io_error = 8;
        static final int rec_track_ok = 9;
    }
}
