package com.android.YourApplication;

import static com.android.YourApplication.AppActivity.additionnalParam;
import static com.android.YourApplication.AppActivity.userKey;

import com.google.firebase.iid.FirebaseInstanceId;
import com.google.firebase.iid.FirebaseInstanceIdService;
import com.neolane.android.v1.Neolane;
import com.neolane.android.v1.NeolaneAsyncRunner;
import com.neolane.android.v1.NeolaneException;
import java.io.IOException;

@SAMPLE classic/token-refresh-service.txt
