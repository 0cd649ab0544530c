// SPDX-License-Identifier: GPL-2.0-only
#include "cmd_drive.h"

int main(int argc, char **argv)
{
	return cmd_drive(argc, argv);
}
