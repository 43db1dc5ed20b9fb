package com.android.YourApplication;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;

class VariableReceiver extends BroadcastReceiver {
@SAMPLE classic/on-receive.txt
}
