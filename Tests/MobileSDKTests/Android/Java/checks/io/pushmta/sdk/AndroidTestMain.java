package io.pushmta.sdk;

import io.pushmta.sdk.android.StateProvider;

/** Runs the tests of what needs Android, over stubs of it. */
public final class AndroidTestMain {
    private AndroidTestMain() {
    }

    public static void main(String[] arguments) throws Exception {
        // As the system does before an app's own code.
        new StateProvider().onCreate();
        TestMain.run(FacadeTests.class, AndroidLayerTests.class);
    }
}
