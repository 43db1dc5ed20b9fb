package android.os;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Gives work to the main thread. */
public class Handler {
    private static final ExecutorService MAIN = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "main of the stub");
        thread.setDaemon(true);
        return thread;
    });

    public Handler(Looper looper) {
    }

    public final boolean post(Runnable work) {
        MAIN.execute(work);
        return true;
    }
}
