@SAMPLE classic/messaging-service.txt
