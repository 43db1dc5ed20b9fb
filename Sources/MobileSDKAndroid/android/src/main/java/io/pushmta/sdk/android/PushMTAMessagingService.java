package io.pushmta.sdk.android;

import com.google.firebase.messaging.FirebaseMessagingService;
import com.google.firebase.messaging.RemoteMessage;
import io.pushmta.sdk.PushClient;
import io.pushmta.sdk.PushException;
import java.io.IOException;

/**
 * Renews the token and tracks messages that arrive. An app extends it, shows its notification in {@link #show}, and
 * declares its class in its manifest for {@code com.google.firebase.MESSAGING_EVENT}.
 */
public abstract class PushMTAMessagingService extends FirebaseMessagingService {
    /**
     * Shows a message. Add {@link PushMTA#extras} to its notification, so that a recall can remove it. The receipt is reported
     * afterwards, so that a slow network does not delay the notification.
     */
    protected abstract void show(RemoteMessage message);

    /** Firebase calls this on its own thread, which may block. */
    @Override
    public void onNewToken(String token) {
        try {
            PushClient.getInstance().refreshToken(token);
        } catch (PushException | IOException error) {
            // It is kept and retried if there is a registration. Otherwise the app registers later with this token.
        }
    }

    /** The process may end when this returns, so the receipt is sent here, not in parallel. */
    @Override
    public void onMessageReceived(RemoteMessage message) {
        // A recall removes what is shown, and shows nothing.
        if (!PushMTA.removeRecalled(message.getData(), this)) {
            show(message);
        }
        String messageId = message.getData().get("_mId");
        String deliveryId = message.getData().get("_dId");
        if (messageId != null && deliveryId != null) {
            try {
                PushClient.getInstance().notifyReceive(messageId, deliveryId);
            } catch (PushException | IOException error) {
                // It is kept and retried, unless the server refused it.
            }
        }
    }
}
