package com.android.YourApplication;

import android.content.Context;
import android.content.Intent;
import android.content.SharedPreferences;
import android.os.Bundle;
import android.util.Log;
import com.neolane.android.v1.Neolane;
import com.neolane.android.v1.NeolaneAsyncRunner;
import com.neolane.android.v1.NeolaneException;
import java.io.IOException;

class LaunchActivity extends AppActivity {
    private static final String TAG = "LaunchActivity";

@SAMPLE v8/launch-activity-receipt.txt
}
