@SAMPLE v8/messaging-service.txt
