package io.pushmta.sdk;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A thread that runs tasks in order and retries failed ones later. */
final class Lane {
    private final ScheduledThreadPoolExecutor executor;
    private ScheduledFuture<?> timer;

    Lane(final String name) {
        executor = new ScheduledThreadPoolExecutor(1, work -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        });
        executor.setRemoveOnCancelPolicy(true);
    }

    /** Runs a task in its turn and waits for its end. */
    <T> T call(Callable<T> work) throws PushException, IOException {
        Future<T> result = executor.submit(work);
        try {
            return result.get();
        } catch (ExecutionException error) {
            Throwable cause = error.getCause();
            if (cause instanceof PushException) {
                throw (PushException) cause;
            }
            if (cause instanceof IOException) {
                throw (IOException) cause;
            }
            throw new IOException(cause);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while the request was in progress; the request continues", error);
        }
    }

    /** Runs a task in its turn. */
    void execute(Runnable work) {
        executor.execute(work);
    }

    /** Runs a task later, in place of the one that was scheduled before. Call it on the lane's own thread. */
    void schedule(Runnable work, long millis) {
        cancelTimer();
        timer = executor.schedule(work, millis, TimeUnit.MILLISECONDS);
    }

    void cancelTimer() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
