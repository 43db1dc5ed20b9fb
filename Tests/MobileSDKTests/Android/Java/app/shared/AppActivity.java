package com.android.YourApplication;

import android.app.Activity;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** The names that samples take from the rest of their app. */
class AppActivity extends Activity {
    static final String APPLICATION_PREF_NAME = "app";
    static final String APPUUID_NAME = "key";
    static final String DFT_APPUUID = "no key";
    static final String SOAPRT_NAME = "marketing";
    static final String DFT_SOAPRT = "no host";
    static final String TRACKRT_NAME = "tracking";
    static final String DFT_TRACKRT = "no host";
    static final String SUBPARAMEN1_NAME = "has1";
    static final String SUBPARAMNAME1_NAME = "name1";
    static final String SUBPARAMVALUE1_NAME = "value1";
    static final String SUBPARAMEN2_NAME = "has2";
    static final String SUBPARAMNAME2_NAME = "name2";
    static final String SUBPARAMVALUE2_NAME = "value2";
    static final String REGISTRATION_ERROR_NEOLANE_KEYNAME = "error";
    static final String USE_GCM = "gcm";
    static final String USERKEY_NAME = "user";
    static final String FCM_REGISTRATIONID_NAME = "token";
    static final String BROADCAST_NEWREGISTER_ACTION = "registered";
    static final String BROADCAST_TOAST_DISPLAY_TEXT = "toast";

    /** What a sample's omissions leave to the app. */
    static String userKey;
    static Map<String, Object> additionnalParam;

    /** What was shown. */
    static final List<String> toasts = new CopyOnWriteArrayList<>();

    static void toastMessage(String kind, String text) {
        toasts.add(text);
    }
}
