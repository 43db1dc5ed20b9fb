package io.pushmta.sdk.android;

import android.os.Handler;
import android.os.Looper;
import java.util.concurrent.Executor;

/** Calls listeners on the app's main thread, where they may touch views. */
final class MainThread implements Executor {
    private final Handler handler = new Handler(Looper.getMainLooper());

    @Override
    public void execute(Runnable work) {
        handler.post(work);
    }
}
