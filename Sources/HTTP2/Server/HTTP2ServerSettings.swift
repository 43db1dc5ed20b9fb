/// What a server announces in its first SETTINGS frame, and its own limits.
package struct HTTP2ServerSettings: Sendable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    package var maxConcurrentStreams: UInt32
    /// SETTINGS_HEADER_TABLE_SIZE; APNs announces 4,096.
    package var headerTableSize: UInt32 = 4_096
    /// SETTINGS_MAX_HEADER_LIST_SIZE; APNs announces 8,000.
    package var maxHeaderListSize: UInt32 = 8_000
    /// SETTINGS_INITIAL_WINDOW_SIZE; APNs announces 65,535.
    package var initialWindowSize: UInt32 = 65_535
    /// The maximum number of bytes of a body that are kept; the rest is only counted.
    package var maxBodySize = 16 * 1_024
    /// The debug data of the GOAWAY (PROTOCOL_ERROR) for a client that exceeds the stream limit; nil for the session's
    /// default.
    package var violationDebugData: [UInt8]?

    package init(maxConcurrentStreams: UInt32 = 1_000) {
        self.maxConcurrentStreams = maxConcurrentStreams
    }
}
