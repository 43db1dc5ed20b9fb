package io.pushmta.sdk;

import java.io.IOException;

/**
 * Brings tracking hits to the server, in order, and keeps them while it cannot be reached. A hit whose answer is lost is sent
 * again, so a server may see it twice.
 */
final class Tracker {
    static final String NAME = "tracking";

    private final Settings settings;
    private final Transport transport;
    private final Lane lane = new Lane("pushmta-tracking");
    private final TrackingQueue queue = new TrackingQueue();
    private final BackOff backOff;
    private Storage storage;

    Tracker(Settings settings, Transport transport, BackOff backOff) {
        this.settings = settings;
        this.transport = transport;
        this.backOff = backOff;
    }

    /** Goes on with what an earlier process left. */
    void restore(final Storage newStorage) {
        lane.execute(() -> {
            storage = newStorage;
            try {
                queue.restore(newStorage.read(NAME));
            } catch (IOException error) {
                // What cannot be read counts as nothing.
            }
            retry();
        });
    }

    void track(String messageId, String deliveryId, int tag) throws PushException, IOException {
        String path = TrackingPath.path(messageId, deliveryId, tag);
        lane.call(() -> {
            settings.trackingBase();
            if (path == null) {
                throw new PushException(PushException.Code.NO_IDS, "The notification has no _mId and _dId of an engine");
            }
            TrackingQueue.Hit hit = queue.add(path);
            store();
            sendAll(hit);
            return null;
        });
    }

    void retryNow() {
        lane.execute(this::retry);
    }

    /** A try that nobody waits for. */
    private void retry() {
        try {
            sendAll(null);
        } catch (PushException | IOException error) {
            // Without a host, the next one brings it here again; a failure has its timer; a refusal is final.
        }
    }

    /** Sends what is there, and throws what became of the one that somebody waits for. */
    private void sendAll(TrackingQueue.Hit awaited) throws PushException, IOException {
        PushException refusal = null;
        lane.cancelTimer();
        for (TrackingQueue.Hit hit = queue.first(); hit != null; hit = queue.first()) {
            HttpAnswer answer;
            try {
                answer = transport.send(new HttpRequest("GET", settings.trackingBase() + hit.path, null, null));
            } catch (IOException error) {
                lane.schedule(this::retry, backOff.next(0));
                throw error;
            }
            PushException failure = answer.isSuccess() ? null
                    : new PushException(PushException.Code.UNEXPECTED_ERROR, answer.reason());
            if (failure != null && answer.isWorthRetrying() && queue.failed(hit)) {
                lane.schedule(this::retry, backOff.next(answer.retryAfterMillis()));
                throw failure;
            }
            queue.remove(hit);
            store();
            backOff.reset();
            refusal = hit == awaited ? failure : refusal;
        }
        if (refusal != null) {
            throw refusal;
        }
    }

    private void store() {
        try {
            if (storage != null) {
                storage.write(NAME, queue.text());
            }
        } catch (IOException error) {
            // Kept in memory, and lost only if the process ends before the server has it.
        }
    }
}
