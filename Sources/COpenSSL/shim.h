#pragma once
#include <openssl/provider.h>
