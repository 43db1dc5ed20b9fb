package io.pushmta.sdk;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Sends tracking hits to the server in order, and keeps them while it cannot be reached. A hit whose answer is lost is
 * sent again, so a server may see it twice. After a failure there is a pause in which new hits are only queued.
 * Otherwise each of them would cost the oldest hit an attempt and a struggling server a request.
 */
final class Tracker {
    static final String NAME = "tracking";
    static final String OPENED = "opened";

    private final Settings settings;
    private final Transport transport;
    private final Lane lane = new Lane("pushmta-tracking");
    private final TrackingQueue queue = new TrackingQueue();
    private final BackOff backOff;
    private Storage storage;
    /** What the path of the last opened notification has before its tag; null if none was opened. */
    private String opened;
    /** Throws the reason for the pause, which lasts until the lane's timer; null while there is no pause. */
    private Trouble trouble;
    /** When the server may be asked again, by {@link System#nanoTime}; meaningless without a pause. */
    private long askedUntil;
    /** The host that the pause is for. */
    private String troubledBase;

    /** Throws the reason why a hit is queued. */
    private interface Trouble {
        void tell() throws PushException, IOException;
    }

    Tracker(Settings settings, Transport transport, BackOff backOff) {
        this.settings = settings;
        this.transport = transport;
        this.backOff = backOff;
    }

    /** Continues with the state of an earlier process. */
    void restore(final Storage newStorage) {
        lane.execute(() -> {
            storage = newStorage;
            try {
                queue.restore(newStorage.read(NAME));
                String stored = newStorage.read(OPENED);
                if (opened == null && stored != null && stored.startsWith("/r/?id=h")) {
                    opened = stored;
                }
            } catch (IOException error) {
                // Unreadable state counts as absent.
            }
            retry();
        });
    }

    void track(String messageId, String deliveryId, int tag) throws PushException, IOException {
        String path = TrackingPath.path(messageId, deliveryId, tag);
        lane.call(() -> {
            if (path != null && tag == TrackingPath.CLICK) {
                opened = TrackingPath.opened(path);
                store(OPENED, opened);
            }
            settings.trackingBase();
            if (path == null) {
                throw new PushException(PushException.Code.NO_IDS, "The notification has no valid _mId and _dId");
            }
            send(path);
            return null;
        });
    }

    void convert(String name, Double value) throws PushException, IOException {
        lane.call(() -> {
            settings.trackingBase();
            if (opened == null) {
                throw new PushException(PushException.Code.NO_IDS, "No notification was opened");
            }
            send(TrackingPath.conversion(opened, name, value));
            return null;
        });
    }

    /** Queues a hit, and sends it unless there is a pause. */
    private void send(String path) throws PushException, IOException {
        TrackingQueue.Hit hit = queue.add(path);
        store();
        if (isTroubled()) {
            trouble.tell();
        }
        sendAll(hit);
    }

    /** Ends a pause, unless the server asked for it. */
    void retryNow() {
        lane.execute(() -> {
            long left = isTroubled() ? askedUntil - System.nanoTime() : 0;
            if (left > 0) {
                lane.schedule(this::retry, TimeUnit.NANOSECONDS.toMillis(left) + 1);
            } else {
                retry();
            }
        });
    }

    /** Whether there is a pause for the current server. */
    private boolean isTroubled() {
        try {
            return trouble != null && settings.trackingBase().equals(troubledBase);
        } catch (PushException error) {
            return false;
        }
    }

    /** An attempt without a waiting caller. */
    private void retry() {
        try {
            sendAll(null);
        } catch (PushException | IOException error) {
            // Without a host, setting one leads here again; a failure has its timer; a refusal is final.
        }
    }

    /** Sends the queued hits, and throws if the one that the caller waits for failed. */
    private void sendAll(TrackingQueue.Hit awaited) throws PushException, IOException {
        PushException refusal = null;
        lane.cancelTimer();
        trouble = null;
        for (TrackingQueue.Hit hit = queue.first(); hit != null; hit = queue.first()) {
            String base = settings.trackingBase();
            HttpAnswer answer;
            try {
                answer = transport.send(new HttpRequest("GET", base + hit.path, null, null));
            } catch (IOException error) {
                pause(base, 0, () -> {
                    throw new IOException(error.getMessage(), error);
                });
                throw error;
            }
            if (answer.isWorthRetrying()) {
                queue.failed(hit);
                store();
                pause(base, answer.retryAfterMillis(), () -> {
                    throw new PushException(PushException.Code.UNEXPECTED_ERROR, answer.reason());
                });
                trouble.tell();
                return;
            }
            queue.remove(hit);
            store();
            backOff.reset();
            if (hit == awaited && !answer.isSuccess()) {
                refusal = new PushException(PushException.Code.UNEXPECTED_ERROR, answer.reason());
            }
        }
        if (refusal != null) {
            throw refusal;
        }
    }

    private void pause(String base, long askedMillis, Trouble why) {
        troubledBase = base;
        trouble = why;
        askedUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(askedMillis);
        lane.schedule(this::retry, backOff.next(askedMillis));
    }

    private void store() {
        store(NAME, queue.text());
    }

    private void store(String name, String text) {
        try {
            if (storage != null) {
                storage.write(name, text);
            }
        } catch (IOException error) {
            // It stays in memory; it is lost only if the process ends before the server has it.
        }
    }
}
