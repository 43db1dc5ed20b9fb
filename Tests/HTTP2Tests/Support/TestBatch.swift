import HTTP2

/// Batches as the tests send them.
enum TestBatch {
    /// - Parameter body: the body of the request with an index.
    static func make(
        _ count: Int,
        tag: Int64 = 1,
        path: String = "/3/device/",
        body: (Int) -> String = { "{\"aps\":{\"alert\":\"number \($0)\"}}" }
    ) -> HTTP2RequestBatch {
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", "localhost"), HTTP2HeaderField("apns-topic", "com.example.app"),
                HTTP2HeaderField("authorization", "bearer not-a-secret"),
            ],
            perRequestHeaderNames: ["apns-id"],
            capacity: count,
            bodyBytes: count * 32,
            tag: tag
        )
        for index in 0..<count {
            batch.append(
                path: Array("\(path)\(index)".utf8),
                headerValues: [Array("id-\(tag)-\(index)".utf8)],
                body: Array(body(index).utf8)
            )
        }
        return batch
    }
}
