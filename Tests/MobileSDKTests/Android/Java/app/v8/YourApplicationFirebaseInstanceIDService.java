@SAMPLE v8/token-refresh-service.txt
