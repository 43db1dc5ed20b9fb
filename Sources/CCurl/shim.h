#pragma once
#include <curl/curl.h>

// libcurl's option and information calls are variadic, which Swift does not import. Each setter below takes one type.
// The parentheses around the names step past curl's type-checking macros, which want the option as a literal.

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode ccurl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *_Nullable value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, const void *_Nullable value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *_Nullable value) {
    return (curl_easy_setopt)(handle, option, value);
}

typedef size_t (*ccurl_data_callback)(char *_Nullable data, size_t size, size_t count, void *_Nullable context);

static inline CURLcode ccurl_set_data_callback(CURL *handle, CURLoption option, ccurl_data_callback callback) {
    return (curl_easy_setopt)(handle, option, callback);
}

typedef int (*ccurl_ready_callback)(void *_Nullable context, char *_Nullable peer, char *_Nullable local, int peer_port,
                                    int local_port);

static inline CURLcode ccurl_set_ready_callback(CURL *handle, CURLoption option, ccurl_ready_callback callback) {
    return (curl_easy_setopt)(handle, option, callback);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *handle, CURLMoption option, long value) {
    return (curl_multi_setopt)(handle, option, value);
}

static inline CURLcode ccurl_get_long(CURL *handle, CURLINFO info, long *_Nonnull value) {
    return (curl_easy_getinfo)(handle, info, value);
}

static inline CURLcode ccurl_get_pointer(CURL *handle, CURLINFO info, void *_Nullable *_Nonnull value) {
    return (curl_easy_getinfo)(handle, info, value);
}

// The result of a finished transfer sits in a union, which Swift would import as raw memory.
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
    return message->data.result;
}
