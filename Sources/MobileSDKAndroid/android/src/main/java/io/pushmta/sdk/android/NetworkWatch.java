package io.pushmta.sdk.android;

import android.content.Context;
import android.net.ConnectivityManager;
import android.net.Network;
import android.os.Build;
import io.pushmta.sdk.PushClient;

/** Makes the SDK retry as soon as the device has a network. */
final class NetworkWatch extends ConnectivityManager.NetworkCallback {
    private final PushClient client;

    private NetworkWatch(PushClient client) {
        this.client = client;
    }

    /** Android before 7 has no such callback; there the SDK relies on its back-off. */
    static void start(Context context, PushClient client) {
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.N) {
            return;
        }
        Object service = context.getSystemService(Context.CONNECTIVITY_SERVICE);
        if (service instanceof ConnectivityManager) {
            ((ConnectivityManager) service).registerDefaultNetworkCallback(new NetworkWatch(client));
        }
    }

    @Override
    public void onAvailable(Network network) {
        client.retryNow();
    }
}
