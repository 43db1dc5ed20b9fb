@SAMPLE v8/messaging-service-receipt.txt
