package io.pushmta.sdk.android;

import com.google.firebase.messaging.FirebaseMessagingService;
import com.google.firebase.messaging.RemoteMessage;
import io.pushmta.sdk.PushClient;
import io.pushmta.sdk.PushException;
import java.io.IOException;

/**
 * Renews the token, and tracks what arrives. An app extends it, shows its notification in {@link #show}, and declares its class
 * in its manifest for {@code com.google.firebase.MESSAGING_EVENT}.
 */
public abstract class PushMTAMessagingService extends FirebaseMessagingService {
    /** Shows a message. The receipt is reported afterwards, so that a slow network does not hold the notification back. */
    protected abstract void show(RemoteMessage message);

    /** Firebase calls this on a thread of its own, where waiting is allowed. */
    @Override
    public void onNewToken(String token) {
        try {
            PushClient.getInstance().refreshToken(token);
        } catch (PushException | IOException error) {
            // Kept and tried again, if there is a registration. If there is none yet, the app makes it with this token.
        }
    }

    /** The process may end when this returns, so the receipt is sent in it and not beside it. */
    @Override
    public void onMessageReceived(RemoteMessage message) {
        show(message);
        String messageId = message.getData().get("_mId");
        String deliveryId = message.getData().get("_dId");
        if (messageId != null && deliveryId != null) {
            try {
                PushClient.getInstance().notifyReceive(messageId, deliveryId);
            } catch (PushException | IOException error) {
                // Kept and tried again, unless the server refused it.
            }
        }
    }
}
