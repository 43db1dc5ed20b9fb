/// What FCM remembers of one connection: nothing, as every request brings its access token.
struct FCMConnectionState {}
