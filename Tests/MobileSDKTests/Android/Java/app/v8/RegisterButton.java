package com.android.YourApplication;

import android.app.Activity;
import android.content.Context;
import android.content.SharedPreferences;
import android.view.View;
import android.widget.EditText;
import com.google.firebase.iid.FirebaseInstanceId;

class RegisterButton implements View.OnClickListener {
    private final Activity context;

    RegisterButton(Activity context) {
        this.context = context;
    }

@SAMPLE v8/register-button.txt
}
